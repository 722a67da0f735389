"""The columns of a Notion database that a list of to-dos needs, however they are called: the title, and what tells done."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tertulia.domain.errors import ServiceFailed
from tertulia.domain.todos import Todo

UNTITLED = "Untitled"
COMPLETE = "complete"
"""The last of the three groups that the states of a status column fall into."""

_DONE_WORDS = re.compile(
    r"\b(?:done|complete[d]?|finished|closed|erledigt|fertig|abgeschlossen|hecho|hecha|terminado|completad[oa]"
    r"|terminée?|fini|faite?|feit[oa]|conclu[íi]d[oa]|готово|выполнен[оа]?|сделано|завершено)\b"
    r"|完成|已完成|做完|完了|済|완료|끝",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class DoneMark:
    """The column that tells whether something is done."""

    name: str
    kind: str
    """`status`, `select` or `checkbox`."""
    done: str = ""
    """The state to set, where the column has states."""
    open: str = ""
    dones: frozenset[str] = frozenset()
    """Every state that counts as done."""

    def value(self, state: str, *, done: bool) -> Mapping[str, Any]:
        """Return what to write into the column: done, or open in the state that it had."""
        if self.kind == "checkbox":
            return {self.name: {"checkbox": done}}
        wanted = self.done if done else (state or self.open)
        return {self.name: {self.kind: {"name": wanted} if wanted else None}}

    def open_ones(self) -> Mapping[str, Any]:
        """Return the filter that leaves out what is done."""
        if self.kind == "checkbox":
            return {"property": self.name, "checkbox": {"equals": False}}
        return {"and": [{"property": self.name, self.kind: {"does_not_equal": state}} for state in sorted(self.dones)]}

    def state_in(self, row: Mapping[str, Any]) -> str | bool:
        """Return what a row says in the column."""
        value = row.get(self.name, {}).get(self.kind)
        return value is True if self.kind == "checkbox" else str((value or {}).get("name", ""))


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Where the rows are, and what their columns mean."""

    data_source_id: str
    title: str
    """The name of the title column, which people call as they like."""
    mark: DoneMark | None
    place: str = "Notion"
    """The list as people are told of it."""

    def todo_of(self, page: Mapping[str, Any]) -> Todo:
        """Read a row."""
        row = page.get("properties") or {}
        pieces = next((column.get("title") for column in row.values() if column.get("type") == "title"), None) or ()
        state = self.mark.state_in(row) if self.mark else ""
        is_done = state is True or (self.mark is not None and state in self.mark.dones)
        return Todo(
            id=str(page["id"]),
            title="".join(str(piece.get("plain_text", "")) for piece in pieces) or UNTITLED,
            is_done=is_done,
            state=state if isinstance(state, str) else "",
        )


def columns_of(data_source: Mapping[str, Any], place: str) -> Columns:
    """Find the columns of a data source."""
    schema = [{**column, "name": name} for name, column in (data_source.get("properties") or {}).items()]
    titles = [column["name"] for column in schema if column.get("type") == "title"]
    if not titles:
        raise ServiceFailed("Notion does not show the columns of that database.")
    return Columns(data_source_id=str(data_source["id"]), title=titles[0], mark=_done_mark(schema), place=place)


def _done_mark(schema: Sequence[Mapping[str, Any]]) -> DoneMark | None:
    """Choose a status column, else a select with a state that reads as done, else the checkbox that tells done.

    Of several checkboxes without such a name none is chosen: ticking the wrong one does harm.
    """
    for kind in ("status", "select"):
        for column in schema:
            if column.get("type") == kind and (mark := _of_states(column)):
                return mark
    boxes = [column["name"] for column in schema if column.get("type") == "checkbox"]
    named = [name for name in boxes if _DONE_WORDS.search(name)]
    chosen = named[0] if named else boxes[0] if len(boxes) == 1 else None
    return DoneMark(name=chosen, kind="checkbox") if chosen else None


def _of_states(column: Mapping[str, Any]) -> DoneMark | None:
    kind = column["type"]
    states = [str(option["name"]) for option in column[kind].get("options") or ()]
    named = [state for state in states if _DONE_WORDS.search(state)]
    groups = column[kind].get("groups") or ()
    dones = _states_of(column, groups) or named if groups else named
    if not dones:
        return None
    still_open = [state for state in states if state not in dones]
    return DoneMark(
        name=column["name"],
        kind=kind,
        done=next((state for state in dones if state in named), dones[0]),
        open=still_open[0] if still_open else "",
        dones=frozenset(dones),
    )


def _states_of(column: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the states in the group of what is complete, in their order."""
    complete = next((each for each in groups if str(each.get("name", "")).casefold() == COMPLETE), groups[-1])
    ids = complete.get("option_ids") or ()
    return [str(option["name"]) for option in column["status"].get("options") or () if option.get("id") in ids]
