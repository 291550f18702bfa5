"""Spreadsheets: the sheet with the texts, ids, and files that are none."""

import zipfile

import pytest

from macroscope.errors import MacroscopeError
from macroscope.readers import compression
from macroscope.readers.reading import REMARKS

from .test_containers import EXPECTED, read


def write_spreadsheet(path, *sheets):
    """Write a workbook of Excel with the cells of sheets, lists of rows of strings and numbers."""

    def cell(value):
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    head, types = '<?xml version="1.0"?>', "http://schemas.openxmlformats.org"
    office = f"{types}/officeDocument/2006/relationships"
    names = [f"Sheet{number}" for number in range(1, len(sheets) + 1)]
    with zipfile.ZipFile(path, "w") as archive:
        root = f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr(
            "_rels/.rels", f'{head}<Relationships xmlns="{types}/package/2006/relationships">{root}</Relationships>'
        )
        archive.writestr("[Content_Types].xml", f'{head}<Types xmlns="{types}/package/2006/content-types"/>')
        listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(names, 1))
        main = f'xmlns="{types}/spreadsheetml/2006/main"'
        archive.writestr(
            "xl/workbook.xml", f'{head}<workbook {main} xmlns:r="{office}"><sheets>{listed}</sheets></workbook>'
        )
        parts = "".join(
            f'<Relationship Id="r{n}" Type="{office}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n in range(1, len(names) + 1)
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'{head}<Relationships xmlns="{types}/package/2006/relationships">{parts}</Relationships>',
        )
        for number, rows in enumerate(sheets, 1):
            cells = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
            archive.writestr(
                f"xl/worksheets/sheet{number}.xml",
                f"{head}<worksheet {main}><sheetData>{cells}</sheetData></worksheet>",
            )
    return path


def test_a_spreadsheet(tmp_path):
    rows = [["", "", ""], ["ID ", "Stars", "Text"], ["a", 4, "A fox ran."], ["", "", ""], ["b", 5, "It rained."]]
    path = write_spreadsheet(tmp_path / "mine.xlsx", [], rows, [["notes"]])
    documents_read, provenance = read(path)
    assert documents_read == EXPECTED
    assert provenance.source[REMARKS] == ["sheet 'Sheet2' is read, and not 'Sheet3'"]


def test_the_sheet_with_texts_is_read(tmp_path):
    notes, texts = [["read me"], ["the texts are on the next sheet"]], [["id", "text"], ["a", "A fox ran."]]
    documents_read, provenance = read(write_spreadsheet(tmp_path / "mine.xlsx", notes, texts))
    assert documents_read == EXPECTED[:1]
    assert provenance.source[REMARKS] == ["sheet 'Sheet2' is read, and not 'Sheet1'"]


def test_ids_of_a_spreadsheet_are_whole_numbers(tmp_path):
    path = write_spreadsheet(tmp_path / "mine.xlsx", [["id", "text"], [7, "A fox ran."]])
    assert read(path)[0] == [("7", "A fox ran.")]


def test_a_spreadsheet_that_is_none(tmp_path, monkeypatch):
    (tmp_path / "mine.xlsx").write_bytes(b"no zip")
    with pytest.raises(MacroscopeError, match=r"mine\.xlsx: not a readable spreadsheet"):
        read(tmp_path / "mine.xlsx")
    path = write_spreadsheet(tmp_path / "bomb.xlsx", [["text"], ["x" * 70_000]])
    monkeypatch.setattr(compression, "LARGEST", 1 << 16)
    with pytest.raises(MacroscopeError, match="unpacks to more than"):
        read(path)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', "few cells, .* row 1,048,576 and column 16,384"),
        ('<row r="1048576"><c r="CV1048576"><v>1</v></c></row>', "few cells, .* row 1,048,576 and column 100;"),
        # Of a row's number, its reader keeps 32 bits: 4,294,967,297 would be the first row.
        ('<row r="4294967297"><c r="A4294967297"><v>1</v></c></row>', "at 4294967297, outside of any sheet"),
        ('<row r="3"><c r="XFE3"><v>1</v></c></row>', "at XFE3, outside of any sheet"),
        ('<row r="3"><c r="A3" t="inlineStr"><is><t>&nosuch;</t></is></c></row>', "not a readable spreadsheet .*such"),
    ],
)
def test_cells_that_are_nowhere(cell, message, tmp_path):
    good, path = write_spreadsheet(tmp_path / "good.xlsx", [["text"], ["A fox ran."]]), tmp_path / "mine.xlsx"
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).decode().replace("</sheetData>", f"{cell}</sheetData>"))
    with pytest.raises(MacroscopeError, match=message):
        read(path)
