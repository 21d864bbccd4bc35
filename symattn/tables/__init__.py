"""Tables of keys and values as files write them, with the places of their faults."""
