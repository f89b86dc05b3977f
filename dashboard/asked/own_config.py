"""A run of somebody's own model: what its files say of it. It can be shown and never trained: it has no task of ours.

So it is a kind of configuration of its own, which holds no more than the page must know before the records come.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from dashboard.asked.validated import Frozen, Validated

MOST_OWN_LANES = 99  # a link hides lanes by numbers of two digits
# What the settings decide of a step: a file tells it, where a race computes it. The names are those of a schedule.
TOLD = ("lr", "multiplier", "rho", "r")

Text = Annotated[str, Field(max_length=2000)]


class OwnLane(Frozen):
    label: Annotated[str, Field(min_length=1, max_length=60)]
    optimizer: Text
    settings: dict[str, float | str | None]  # as its optimizer began; for people only
    last: Annotated[int, Field(ge=0)]  # its last step


class OwnConfig(Validated):
    """Lanes of one or several files, which are one run to the visitor."""

    kind: ClassVar[str] = "own"
    LISTS: ClassVar[Mapping[str, type[Frozen]]] = {"lanes": OwnLane}

    title: Text  # the files' names
    source: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]  # a hash over what is in them: other files, another run
    lanes: Annotated[tuple[OwnLane, ...], Field(min_length=1, max_length=MOST_OWN_LANES)]
    steps: Annotated[int, Field(ge=1)]
    columns: tuple[str, ...]  # of `QUANTITIES` and `TOLD`, those that at least one lane has
    metrics: tuple[Text, ...] = ()
    histograms: bool = False
    notes: tuple[Text, ...] = ()  # what should be known of it, in sentences
    places: tuple[int, ...] | None = None  # of its lanes among all of the files', where it has only some
    of: int | None = None  # how many those are

    @model_validator(mode="after")
    def _are_lanes_of_their_own(self) -> Self:
        labels = [lane.label for lane in self.lanes]
        if len(set(labels)) < len(labels):
            raise ValueError(f"lanes must have labels of their own, got {labels}")
        if self.places is not None and len(self.places) != len(labels):
            raise ValueError(f"places must be those of the {len(labels)} lanes, got {len(self.places)}")
        return self

    @property
    def size(self) -> int:
        return len(self.lanes)

    def lane_json(self, place: int) -> str:
        """Which records these are: the files', and the lane's place in them."""
        at, of = (place, self.size) if self.places is None else (self.places[place], self.of)
        return json.dumps({"own": self.source, "place": at, "of": of}, sort_keys=True)

    def refuse_local(self) -> None:
        raise ValueError("a run of an own model must be opened from its file: a link cannot hold what was recorded")

    def about(self, lane: OwnLane) -> dict[str, Any]:
        """A lane in a row of a table."""
        return {"lane": lane.label, "optimizer": lane.optimizer, **lane.settings, "last step": lane.last}
