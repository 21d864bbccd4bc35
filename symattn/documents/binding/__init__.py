"""Articles bound to their recipes: definitions, names, what is spoken of, workings."""

from symattn.documents.binding.binder import read

__all__ = ["read"]
