"""Marking: the answers of students, checked against an exercise.

What a student hands in is a script (:mod:`scripts`, read from a file by
:mod:`reading`). Each answer is judged (:mod:`judging`): it is right, or it is
what comes of the student's own earlier answers (:mod:`following`), or of a mistake
that the audit can name. A scheme says what each of these is worth
(:mod:`points`); a student is told in :mod:`feedback`, the marker in :mod:`tables`.
"""
