"""Editors themselves, set up as the documentation says: each shows the wrong figure, and
corrects it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .editors import POST, RIGHT, ROOT, WRONG

pytestmark = pytest.mark.heavy
PAGE = (ROOT / "docs" / "editors.md").read_text("utf-8")
#: What Neovim is asked to do, and to print.
LUA = """
vim.cmd("set filetype=markdown")
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 50)
for _, one in ipairs(vim.diagnostic.get(0)) do
  print(vim.api.nvim_buf_get_text(0, one.lnum, one.col, one.end_lnum, one.end_col, {})[1])
end
local asked = vim.lsp.util.make_range_params(0, "utf-16")
asked.context = { diagnostics = {}, only = { "source.fixAll" } }
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/codeAction", asked, 30000)) do
  for _, action in ipairs(answer.result) do
    vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
  end
end
vim.cmd("write")
"""
ELISP = """
(require 'markdown-mode)
(require 'eglot)
%s
(find-file "post.md")
(markdown-mode)
(setq eglot-sync-connect t)
(apply #'eglot (eglot--guess-contact))
(let ((tries 300))
  (while (and (> tries 0) (not (flymake-diagnostics)))
    (accept-process-output nil 0.1)
    (setq tries (1- tries))))
(dolist (one (flymake-diagnostics))
  (princ (buffer-substring (flymake-diagnostic-beg one) (flymake-diagnostic-end one)))
  (goto-char (flymake-diagnostic-beg one)))
(let ((eglot-confirm-server-initiated-edits nil))
  (eglot-code-actions (point) (point) "source.fixAll.symattn" t))
(save-buffer)
(eglot-shutdown-all)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a post, and symattn on the path."""
    (tmp_path / "post.md").write_text(POST, "utf-8")
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "symattn"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m symattn "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def blocks(language: str) -> list[str]:
    """What the page says in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


def run(words: list[str], folder: Path) -> str:
    """What an editor prints."""
    ended = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    return ended.stdout + ended.stderr


@pytest.mark.campaign
@pytest.mark.needs("nvim")
def test_neovim(folder):
    version = subprocess.run(["nvim", "--version"], capture_output=True, text=True, check=True)
    major, minor = map(int, re.findall(r"v(\d+)\.(\d+)", version.stdout)[0])
    new, old = blocks("lua")
    (folder / "init.lua").write_text(new if (major, minor) >= (0, 11) else old, "utf-8")
    (folder / "script.lua").write_text(LUA, "utf-8")
    words = ["nvim", "--headless", "-u", "init.lua", "post.md"]
    shown = run([*words, "-c", "luafile script.lua", "-c", "qa!"], folder)
    assert WRONG in shown
    assert (folder / "post.md").read_text("utf-8") == POST.replace(WRONG, RIGHT)


@pytest.mark.campaign
@pytest.mark.needs("emacs")
def test_emacs(folder):
    (setting,) = blocks("elisp")
    (folder / "script.el").write_text(ELISP % setting, "utf-8")
    paths = [
        word
        for path in Path("/usr/share/emacs/site-lisp/elpa").glob("*-*")
        for word in ("-L", str(path))
    ]
    shown = run(["emacs", "-Q", "--batch", *paths, "-l", "script.el"], folder)
    assert WRONG in shown
    assert (folder / "post.md").read_text("utf-8") == POST.replace(WRONG, RIGHT)
