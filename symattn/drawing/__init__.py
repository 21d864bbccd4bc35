"""Pictures of cases."""
