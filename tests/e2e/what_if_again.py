"""What is on record of a live control plane happens again when nothing is otherwise (docs/what-if.md)."""

from steps import run

PLAY_SECONDS_MAX = 600


def plays_again(hindsight, log, *more):
    """Plays a whole log on from its beginning with nothing changed. It fails if any decision that the world answers is another one, with
    whom that concerns, or when it takes too long."""
    print(run(hindsight, "what-if", "--from", "1", "--compare", "--log", log, *more, timeout=PLAY_SECONDS_MAX).strip(), flush=True)
