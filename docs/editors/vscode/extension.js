// Starts symattn's language server; all else is the server's.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["markdown", "quarto", "latex", "html", "plaintext", "restructuredtext", "toml"];
let client;

exports.activate = () => {
  const [command, ...args] = vscode.workspace.getConfiguration("symattn").get("command");
  const documents = LANGUAGES.flatMap((language) =>
    ["file", "untitled"].map((scheme) => ({ scheme, language })),
  );
  // Cells are sent as notebooks; hovers and corrections ask for them one by one.
  const cells = ["python", "markdown"].map((language) => ({
    notebook: "jupyter-notebook",
    language,
  }));
  client = new LanguageClient("symattn", "symattn", { command, args }, {
    documentSelector: [...documents, ...cells],
  });
  return client.start();
};

exports.deactivate = () => client?.stop();
