export { fileStore } from "./node/file-store.ts";
export { PrivateFileError } from "./node/private-file-error.ts";
export { nodeTransport } from "./node/transport.ts";
