"""Languages of documents: their sentences, by what these are in English."""
