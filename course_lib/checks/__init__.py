"""The exercises' checks: one plain pytest file an exercise, and what they are written with.

    catalogue       every exercise: its number, title, kind, minutes, name of the answer, hints
    check_NN_k.py   the specification of exercise NN.k as tests; each gets the learner's `answer`
    expectations    `expect(answer, 1, 2, returns=3)`: calls it, compares, and says what went wrong
    showing, comparing, causes   values in brief, where two differ, and what usually is behind it

`course_lib.learner` runs these files on a learner's code, in a process of its own.
"""
