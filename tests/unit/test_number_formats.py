"""Numbers as people read them."""

from macroscope.number_formats import number
from macroscope.reporting.formats import format_number


def test_powers_of_ten_are_written_as_people_do():
    assert [number(value) for value in (9.109e-05, 1e20, 12345.0, 0.0)] == ["9.11 × 10⁻⁵", "1 × 10²⁰", "12,345", "0"]


def test_what_rounding_left_of_0_is_0():
    assert [number(value) for value in (-1.73e-18, 4e-13, 4e-12)] == ["0", "0", "4 × 10⁻¹²"]
    assert format_number(-1.73e-18) == "0"
