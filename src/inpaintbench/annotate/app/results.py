"""The report of a study while it runs, for admins: worked out when it is asked for, and again when there are other events."""

from __future__ import annotations

import threading
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.annotate.report.material import events_read, material_of
from inpaintbench.annotate.report.page import render

if TYPE_CHECKING:
    from inpaintbench.annotate.app.blinding import View
    from inpaintbench.annotate.desk.desk import Desk
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.accounts import People
    from inpaintbench.annotate.study import Proxy, Study, StudyTask

# Widest picture of a task, pixels: a thumbnail on a dense screen.
_WIDTH = 720
# Pictures that are kept, some 50 kB each.
_KEPT = 256


class Results:
    """The page, and for how many events it was made."""

    def __init__(self, study: Study, *, desk: Desk, journal: Journal, people: People) -> None:
        self._study = study
        self._desk = desk
        self._journal = journal
        self._people = people
        # Intervals are resampled, which takes a while: two who ask at once wait for one.
        self._working = threading.Lock()
        self._made: dict[bool, tuple[int, str]] = {}

    def page(self, view: View) -> str:
        """The report as HTML, with names of raters and pictures of disputed tasks; of methods what ``view`` tells."""
        with self._working:
            last = self._desk.state().last_seq
            if self._made.get(view.letters, (-1, ""))[0] != last:
                events = events_read(self._journal, self._study.study_id)
                names = {rater.rater_id: rater.name for rater in self._people.raters(self._study.study_id)}
                standing, overview = view.standing(self._desk.all_answers()), view.overview(self._desk.overview())
                material = material_of(view.study, standing, events, overview=overview, names=names, picture_of=_address)
                self._made[view.letters] = (last, render(material, downloads=()))
            return self._made[view.letters][1]


def _address(task: StudyTask) -> str:
    return f"/admin/pictures/{Path(task.proxy).stem}.jpg"


@lru_cache(maxsize=_KEPT)
def middle_picture(path: Path, proxy: Proxy) -> bytes:
    """Candidates side by side, in the order of their names (or the clip), in the middle of a proxy's time, as JPEG."""
    if video.is_image(path):
        sheet = video.read_image(path)
    else:
        sheet = next(islice((frame for frame, _ in video.upright_frames(path)), proxy.frames // 2, None))
    tiles = sorted((tile for tile in proxy.tiles if tile.candidate is not None), key=lambda tile: tile.candidate or "")
    parts = [sheet[tile.y : tile.y + tile.height, tile.x : tile.x + tile.width] for tile in tiles or proxy.tiles[:1]]
    picture = np.concatenate(parts, axis=1)
    height, width = picture.shape[:2]
    if width > _WIDTH:
        picture = np.asarray(
            cv2.resize(picture, (_WIDTH, round(height * _WIDTH / width)), interpolation=cv2.INTER_AREA), np.uint8
        )
    _, encoded = cv2.imencode(".jpg", picture[:, :, ::-1])
    return encoded.tobytes()
