"""All pairs: a short list of assignments in which every two values of two parameters stand together at least once, unless the rules forbid it.

A rule is (names, predicate): it is asked as soon as all of its names have a value. The result depends on the input alone.
"""
import itertools


def allowed(assignment, rules):
    return all(predicate(*(assignment[n] for n in names)) for names, predicate in rules if all(n in assignment for n in names))


def completed(assignment, parameters, rules, gain):
    """The assignment with a value for every parameter, those with the most gain tried first; None if the rules allow none."""
    rest = [name for name in parameters if name not in assignment]
    if not rest:
        return assignment
    name = rest[0]
    for value in sorted(parameters[name], key=lambda v: -gain(assignment, name, v)):
        tried = {**assignment, name: value}
        if allowed(tried, rules):
            found = completed(tried, parameters, rules, gain)
            if found is not None:
                return found
    return None


def pairs_of(assignment):
    return set(itertools.combinations(sorted(assignment.items()), 2))


def all_pairs(parameters, rules=()):
    """The assignments, and the pairs that no assignment can have."""
    open_pairs, impossible, out = {}, [], []
    for (a, values_a), (b, values_b) in itertools.combinations(sorted(parameters.items()), 2):
        for value_a, value_b in itertools.product(values_a, values_b):
            open_pairs[((a, value_a), (b, value_b))] = True

    def gain(assignment, name, value):
        return sum(tuple(sorted(((name, value), item))) in open_pairs for item in assignment.items())

    while open_pairs:
        pair = next(iter(open_pairs))
        case = completed(dict(pair), parameters, rules, gain) if allowed(dict(pair), rules) else None
        if case is None:
            impossible.append(pair)
            del open_pairs[pair]
            continue
        out.append(case)
        for done in pairs_of(case):
            open_pairs.pop(done, None)
    return out, impossible
