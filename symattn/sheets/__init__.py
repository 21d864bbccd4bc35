"""What sheets say: walkthroughs worked, red pens, derivations."""
