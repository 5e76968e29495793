import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One text of the specification or the contract, in lines. */
export interface Document {
  /** `specification` wins over `contract` where the two differ. */
  readonly kind: "specification" | "contract";
  /** Number that its file name begins with; the notation of the marks depends on it. */
  readonly number: number;
  readonly lines: readonly string[];
}

/** One line of the two lists that name every endpoint of the product. */
export interface Listed {
  readonly method: string;
  readonly path: string;
  readonly kind: Document["kind"];
}

export interface Documents {
  readonly texts: readonly Document[];
  readonly endpoints: readonly Listed[];
  /** The contract's page of conventions with its table of nouns. */
  readonly conventions: readonly string[];
}

const textNames: readonly [Document["kind"], number, string][] = [
  ["specification", 1, "spec/1-tenancy-filters-catalogue.md"],
  ["specification", 2, "spec/2-credentials-sso.md"],
  ["specification", 3, "spec/3-pam-audit-billing-marketplace.md"],
  ["contract", 1, "contract/1-identity-tenancy-devices.md"],
  ["contract", 2, "contract/2-operations.md"],
  ["contract", 3, "contract/3-management-and-reporting.md"],
  ["contract", 4, "contract/4-credentials-pam-audit-billing.md"],
];

/** Reads the documents of a folder that holds `spec/` and `contract/`. */
export function readDocuments(folder: string): Documents {
  const lines = (name: string) => {
    const path = join(folder, name);
    if (!existsSync(path)) throw new Error(`${folder} holds no ${name}`);
    return readFileSync(path, "utf8").split("\n");
  };
  return {
    texts: textNames.map(([kind, number, name]) => ({ kind, number, lines: lines(name) })),
    endpoints: [
      ...listed("specification", lines("spec/endpoints.txt")),
      ...listed("contract", lines("contract/extra-endpoints.txt")),
    ],
    conventions: lines("contract/README.md"),
  };
}

function listed(kind: Document["kind"], lines: readonly string[]): Listed[] {
  return lines.flatMap((line) => {
    const [, method, path] = /^([A-Z]+) (\/\S*)\s*$/.exec(line) ?? [];
    return method && path ? [{ method, path, kind }] : [];
  });
}

export const keyOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
