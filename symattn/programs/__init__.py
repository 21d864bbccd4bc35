"""Programs: named steps, their shapes, the arithmetics they run in, their gradients."""
