"""Marking: the answers of students, checked against an exercise.

Answers are read (:mod:`answer_files`, :mod:`collecting`), and each is judged (:mod:`judging`):
it is right, or it is what comes of the student's own earlier answers (:mod:`follow_through`), or
of a mistake that the audit can name (:mod:`naming`); students are told in :mod:`feedback`.
"""
