/**
 * Runs in the browser. Everything of the document is put in as text, never as markup. `</` must not occur in it, nor
 * may a template placeholder: the text is hashed as it stands.
 */
export const docsScript = String.raw`
"use strict";
const el = (tag, attributes, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== undefined && child !== null));
  return node;
};

const follow = (document_, node) => {
  if (!node || typeof node.$ref !== "string") return node;
  const target = node.$ref.replace(/^#\//, "").split("/").reduce((value, key) => value && value[key], document_);
  return { ...target, ...node, $ref: undefined };
};

const typeOf = (schema) => {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const several = schema.anyOf || schema.oneOf;
  if (several) return several.map(typeOf).join(" or ");
  if (Array.isArray(schema.type)) return schema.type.join(" | ");
  if (schema.type === "array") return "array of " + typeOf(schema.items || {});
  return (schema.type || "any") + (schema.format ? " (" + schema.format + ")" : "");
};

const limits = (schema) =>
  ["minLength", "maxLength", "minimum", "maximum", "maxItems", "pattern", "default"]
    .filter((name) => schema[name] !== undefined && Math.abs(schema[name]) !== Number.MAX_SAFE_INTEGER)
    .map((name) => name + " " + JSON.stringify(schema[name]))
    .join(", ");

const children = (schema) => {
  if (schema.properties) return schema;
  if (schema.items) return children(schema.items);
  return (schema.anyOf || schema.oneOf || []).map(children).find(Boolean);
};

const fields = (document_, given, depth) => {
  const object = children(follow(document_, given) || {});
  if (!object || depth > 6) return undefined;
  return el("ul", { class: "fields" }, ...Object.entries(object.properties).map(([name, value]) => {
    const schema = follow(document_, value);
    const notes = [limits(schema), schema.description].filter(Boolean).join("; ");
    return el("li", {},
      el("code", {}, name),
      (object.required || []).includes(name) ? el("span", { class: "must", title: "required" }, "*") : undefined,
      " ", el("span", { class: "type" }, typeOf(schema) + (notes ? " · " + notes : "")),
      fields(document_, schema, depth + 1));
  }));
};

const schemaBlock = (document_, title, content) => {
  const schema = content && Object.values(content)[0] && Object.values(content)[0].schema;
  if (!schema) return [];
  return [el("h3", {}, title), fields(document_, schema, 0) || el("p", { class: "type" }, typeOf(follow(document_, schema)))];
};

const parameters = (operation) => {
  const rows = operation.parameters || [];
  if (rows.length === 0) return [];
  return [el("h3", {}, "Parameters"), el("table", {}, ...rows.map((item) => el("tr", {},
    el("th", {}, el("code", {}, item.name), item.required ? el("span", { class: "must" }, "*") : undefined),
    el("td", {}, item.in),
    el("td", {}, el("span", { class: "type" }, [typeOf(item.schema), limits(item.schema)].filter(Boolean).join(" · ")),
      item.description ? " " + item.description : undefined))))];
};

const facts = (operation) => {
  const list = [];
  const kinds = (operation.security || []).flatMap((item) => Object.keys(item));
  list.push(kinds.length > 0 ? "credential: " + kinds.join(" or ") : "no credential");
  for (const permission of operation["x-permission"] || []) list.push("permission " + permission);
  if ((operation["x-scopes"] || []).length > 0) list.push("scope " + operation["x-scopes"].join(", "));
  if (operation["x-mfa"]) list.push("needs MFA");
  if (operation["x-audit"]) list.push("audited as " + operation["x-audit"]);
  return el("ul", { class: "facts" }, ...list.map((text) => el("li", {}, text)));
};

const responses = (document_, operation) => {
  const rows = Object.entries(operation.responses || {});
  const good = rows.find(([status]) => status.startsWith("2"));
  return [
    ...(good ? schemaBlock(document_, "Answer " + good[0], good[1].content) : []),
    el("h3", {}, "Errors"),
    el("table", {}, ...rows.filter(([status]) => !status.startsWith("2")).map(([status, response]) => el("tr", {},
      el("th", {}, status), el("td", {}, el("code", {}, follow(document_, response).description || ""))))),
  ];
};

const block = (document_, path, method, operation) => {
  const details = el("details", { id: operation.operationId },
    el("summary", {},
      el("span", { class: "method " + method }, method), el("span", { class: "path" }, path),
      el("span", { class: "what" }, operation.summary || "")));
  const fill = () => {
    if (details.childElementCount > 1) return;
    const body = operation.requestBody;
    details.append(el("div", { class: "body" },
      operation.description ? el("p", {}, operation.description) : undefined,
      facts(operation), ...parameters(operation),
      ...(body ? schemaBlock(document_, "Body", body.content) : []), ...responses(document_, operation)));
  };
  details.addEventListener("toggle", () => { if (details.open) fill(); });
  details.words = [path, method, operation.operationId, operation.summary, operation.description,
    ...(operation["x-permission"] || []), operation["x-audit"],
    ...Object.values(operation.responses || {}).map((response) => response.description)].join(" ").toLowerCase();
  return details;
};

const show = (document_) => {
  const main = document.getElementById("endpoints");
  const nav = document.getElementById("nouns");
  const sections = new Map((document_.tags || []).map((tag) => {
    const section = el("section", {}, el("h2", { id: "tag-" + tag.name }, tag.name), el("p", {}, tag.description || ""));
    return [tag.name, section];
  }));
  const blocks = [];
  for (const [path, methods] of Object.entries(document_.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const item = block(document_, path, method.toUpperCase(), operation);
      blocks.push(item);
      sections.get(operation.tags[0]).append(item);
    }
  }
  main.replaceChildren(...sections.values());
  nav.replaceChildren(...[...sections.keys()].map((name) => el("a", { href: "#tag-" + name }, name)));
  const search = document.getElementById("search");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of blocks) {
      item.hidden = !words.every((word) => item.words.includes(word));
      if (!item.hidden) shown += 1;
    }
    for (const section of sections.values()) section.hidden = !section.querySelector("details:not([hidden])");
    document.getElementById("count").textContent = shown + " of " + blocks.length + " endpoints";
  };
  search.addEventListener("input", filter);
  filter();
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.tagName === "DETAILS") target.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
};

fetch("openapi.json").then((response) => {
  if (!response.ok) throw new Error("status " + response.status);
  return response.json();
}).then(show).catch((error) => {
  document.getElementById("endpoints").replaceChildren(el("p", {}, "The API document could not be read: " + error.message));
});
`;
