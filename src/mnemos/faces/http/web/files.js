import { Failure, send, toast } from "./core.js";

let described;
export const describe = () => (described ??= send("/openapi.json").then((answer) => answer.json()));

function keep(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export const save = (name, text) => keep(name, new Blob([text]));

export async function download(operation, args, accept, name) {
  try {
    const answer = await send(`/v1/${operation}`, { method: "POST", body: JSON.stringify(args), headers: { accept } });
    keep(name, await answer.blob());
    toast(`Saved ${name}.`);
  } catch (error) {
    toast(error.message, { isError: true });
  }
}

export async function upload(operation, file, type) {
  const answer = await send(`/v1/${operation}`, { method: "POST", body: file, headers: { "content-type": type } });
  const data = await answer.json();
  if (data.disabled) throw new Failure(409, "disabled", data.text);
  return data;
}
