"""What stands on a figure, read off the objects that the library draws."""

from matplotlib.colors import to_hex
from matplotlib.text import Text

GREY = "#9a9a9a"


def legend(figure):
    """The words of the legend, a name a line."""
    return [" ".join(text.get_text().split("\n")) for found in figure.legends for text in found.get_texts()]


def signature(figure):
    """The words underneath, in one line."""
    found = [text.get_text() for text in figure.texts if text.get_gid() == "signature"]
    return " ".join(" ".join(found).split())


def title(figure):
    """The title of the figure or of its first axes, in one line."""
    found = [text.get_text() for text in figure.findobj(Text) if text.get_gid() == "title" and text.get_text()]
    return " ".join(found[0].split())


def points(axes):
    """Centre, colour and marker of each point that is drawn with an interval."""
    found = []
    for container in axes.containers:
        line, *_ = container.lines
        (x,), (y,) = line.get_xdata(), line.get_ydata()
        found.append((x, y, to_hex(line.get_color()), line.get_marker()))
    return found


def bars(axes):
    """Both ends of each interval as points, by the centre of its point."""
    found = {}
    for container in axes.containers:
        line, _, (collection,) = container.lines
        (segment,) = collection.get_segments()
        found[float(line.get_xdata()[0]), float(line.get_ydata()[0])] = (tuple(segment[0]), tuple(segment[1]))
    return found


def faults(figure):
    """Say which words lie outside of the figure, and what covers the axes or each other."""
    figure.set_dpi(150)  # as it is written
    figure.draw_without_rendering()
    width, height = figure.bbox.width, figure.bbox.height
    found = []
    ticks = {id(label) for axes in figure.axes for label in (*axes.get_xticklabels(), *axes.get_yticklabels())}
    for text in (text for text in figure.findobj(Text) if id(text) not in ticks):  # some lie beyond the axes, unseen
        box = Text.get_window_extent(text)
        if text.get_visible() and text.get_text().strip() and box.width and not _inside(box, width, height):
            found.append(f"outside: {text.get_text()!r}")
    outer = [text for text in figure.texts if text.get_gid() == "signature"] + list(figure.legends)
    outer += [figure._suptitle] if figure._suptitle else []
    boxes = [(str(one), one.get_window_extent()) for one in outer]
    boxes += [(f"axes {i}", axes.get_tightbbox()) for i, axes in enumerate(figure.axes) if axes.axison]
    found += [f"outside: {name}" for name, box in boxes if not _inside(box, width, height)]
    boxes = [(name, box.padded(-0.5)) for name, box in boxes if box.width and box.height]
    found += [f"{a} covers {b}" for i, (a, one) in enumerate(boxes) for b, other in boxes[:i] if one.overlaps(other)]
    return found


def _inside(box, width, height):
    return box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
