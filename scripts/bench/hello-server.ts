import type { AddressInfo } from "node:net";
import express from "express";

/** Express as in its documentation: the least that this framework does for a JSON answer. */
const app = express();
app.get("/", (_request, response) => {
  response.json({ hello: "world" });
});
app.post("/", express.json(), (_request, response) => {
  response.json({ hello: "world" });
});
const server = app.listen(0, "127.0.0.1", () => {
  process.stdout.write(
    `${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, path: "/" })}\n`,
  );
});
