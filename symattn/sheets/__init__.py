"""What sheets say: cases worked, red pens, derivations."""
