/**
 * Part of the scripts of pages that hand something over to the command line on this machine. It goes in a form's body: not
 * in an address, so it is in no history and no log, and no request of the page itself crosses from the network to the
 * machine, which browsers ask people about. Takes `query`, the parameters of the page's address.
 */
export const handOverScript = `
const port = query.get("port") || "";
const state = query.get("state") || "";
const canHandOver = /^[0-9]{4,5}$/.test(port) && Number(port) >= 1024 && Number(port) <= 65535
  && /^[A-Za-z0-9_-]{16,128}$/.test(state);

function handOver(name, value) {
  const form = document.createElement("form");
  form.method = "post";
  form.action = "http://127.0.0.1:" + port + "/";
  for (const [key, content] of [["state", state], [name, value]]) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = key;
    field.value = content;
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}
`;
