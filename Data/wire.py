# SPDX-License-Identifier: BSD-3-Clause
"""Images of an exploding wire with known truth: thousands of particles that leave a wire, slow down,
fall, cross each other and vanish, as streaks of what each moves while an image is exposed.

    sys.path.insert(0, "<repository>/Data")
    import wire
    explosion = wire.Wire(frames=120)
    image = explosion.image(7)        # 384 x 384 intensities, row by row from below
    pairs = explosion.streaks(7)      # (particle, x, y) of the middle of each streak in it

Two particles whose streaks touch in an image are one region there. A region of one image and one of
the next belong together if a particle is in both.
"""

import numpy as np


class Wire:
    """Particles, and their images. A function of its arguments, to the last bit of numpy's random
    numbers."""

    def __init__(self, frames=120, size=384, births=16, seed=1):
        """births: particles that leave the wire in a frame, on average."""
        random = np.random.RandomState(seed)
        count = frames * births
        self.size = size
        self.frames = frames
        self.birth = random.uniform(-10, frames, count)
        self.life = 3 + random.exponential(14, count)
        self.x = size / 2 + random.normal(0, size / 6, count)
        self.y = random.uniform(0.05, 0.95, count) * size
        angle = random.uniform(0, 2 * np.pi, count)
        speed = random.uniform(1.5, 8, count)
        self.u = speed * np.cos(angle)
        self.v = speed * np.sin(angle)
        self.drag = random.uniform(0.01, 0.05, count)
        self.gravity = 0.08
        self.radius = 1.5

    def place(self, particles, times):
        """Where particles are, as an array (2, particles)."""
        age = times - self.birth[particles]
        drag = self.drag[particles]
        way = (1 - np.exp(-drag * age)) / drag
        return np.array(
            [
                self.x[particles] + self.u[particles] * way,
                self.y[particles] + self.v[particles] * way - self.gravity / drag * (age - way),
            ]
        )

    def _streaks(self, frame):
        """Those seen in a frame, and their ends."""
        begin = np.maximum(frame, self.birth)
        end = np.minimum(frame + 1, self.birth + self.life)
        # what glows for less than a third of the exposure is too faint
        seen = np.nonzero(end - begin > 1 / 3)[0]
        first, last = self.place(seen, begin[seen]), self.place(seen, end[seen])
        middle = (first + last) / 2
        margin = 2 * self.radius
        inside = np.all((middle > margin) & (middle < self.size - margin), axis=0)
        return seen[inside], first[:, inside], last[:, inside]

    def image(self, frame):
        image = np.zeros((self.size, self.size), dtype=np.float32)
        _, first, last = self._streaks(frame)
        reach = 2 * self.radius
        lows = np.maximum(np.minimum(first, last) - reach, 0).astype(int)
        highs = np.minimum(np.maximum(first, last) + reach + 1, self.size).astype(int)
        ways = last - first
        squares = np.maximum(np.sum(ways * ways, axis=0), 1e-12)
        centers = np.arange(self.size) + 0.5
        for (x0, y0), (dx, dy), square, low, high in zip(
            first.T, ways.T, squares, lows.T, highs.T
        ):
            x = centers[low[0] : high[0]] - x0
            y = (centers[low[1] : high[1]] - y0)[:, None]
            along = np.minimum(np.maximum((x * dx + y * dy) / square, 0), 1)
            distance = np.hypot(x - along * dx, y - along * dy)
            part = image[low[1] : high[1], low[0] : high[0]]
            np.maximum(part, 1 - distance / reach, out=part, casting="same_kind")
        return image

    def streaks(self, frame):
        seen, first, last = self._streaks(frame)
        return list(zip(seen, *((first + last) / 2)))
