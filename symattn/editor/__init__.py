"""Articles and walkthroughs judged while they are written: a language server.

The server holds the texts that an editor has open, and computes nothing itself: all work is done by
worker processes (:mod:`symattn.editor.crew`), so that no article can end it or keep it waiting.
"""
