"""Exercises: cases as questions, their keys, and the marking of answers."""
