"""Numbers as people read them."""

from macroscope.tables import number


def test_powers_of_ten_are_written_as_people_do():
    assert [number(value) for value in (9.109e-05, 1e20, 12345.0, 0.0)] == ["9.11 × 10⁻⁵", "1 × 10²⁰", "12,345", "0"]
