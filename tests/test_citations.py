"""An answer says where it is from: the heading and the page of what was found, in a form that leads back there."""

from __future__ import annotations

import gzip
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from commands import Co
from documents import pdf
from indexes import choose
from mcp import Client
from mcp_clients import said, talk

from co_cli import KnowledgeBase, NotFound
from co_cli.citation import Citation, parse_citation
from co_cli.index import analysis
from co_cli.tools import Caller, knowledge_search

FILLING = "Some words about animals that live in the woods. " * 25
MANUAL = f"""# The Manual

<!-- page 1 -->

## Safety

Never open the lid while the drum turns. {FILLING}

<!-- page 2 -->

Gloves are needed, says the second page about the wombat. {FILLING}

## Cleaning

The filter is cleaned every fortnight. {FILLING}

<!-- page 12 -->

The quokka valve is closed by hand. {FILLING}

## Safety

Once more: gloves. {FILLING}
"""


def write(vault: Path, name: str, body: str, kind: str = "articles", header: str = "") -> Path:
    path = vault / kind / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\ntitle: {name.title()}\n{header}---\n{body}")
    return path


@pytest.fixture
def manual(vault: Path) -> Path:
    return write(vault, "manual", MANUAL)


# ---------------------------------------------------------------------------------------------------------------- hits


@pytest.mark.parametrize("mode", ["grep", "text", "hybrid"])
@pytest.mark.parametrize(
    ("query", "cite", "page"),
    [
        ("quokka valve", "article:manual#cleaning p. 12", 12),
        ("wombat", "article:manual#safety p. 2", 2),
        ("lid drum", "article:manual#safety p. 1", 1),
    ],
)
def test_a_hit_knows_its_heading_and_its_page(mode: str, query: str, cite: str, page: int, co: Co, manual: Path) -> None:
    (hit,) = co.json("recall", query, "--mode", mode)["results"]
    assert (hit["cite"], hit["page"]) == (cite, page)
    assert "<!--" not in hit["content"]
    co("recall", query, "--mode", mode)
    assert f"({cite}: line {hit['line']}, under The Manual > " in co.out


def test_a_citation_leads_to_the_part_that_was_found(co: Co, manual: Path) -> None:
    (hit,) = co.json("recall", "quokka", "--mode", "text")["results"]
    part = co.json("show", hit["cite"])
    assert part["page"] == 12
    assert part["text"].startswith("The quokka valve is closed by hand.")
    assert "Once more" not in part["text"]
    assert (part["ref"], part["line"]) == ("article:manual", hit["line"])


@pytest.mark.parametrize("mode", ["grep", "text", "hybrid"])
def test_the_mark_of_a_page_is_nothing_that_can_be_searched_for(mode: str, co: Co, vault: Path) -> None:
    write(vault, "short", "<!-- page 7 -->\n\nHerons fish at dawn.\n")
    assert co.json("recall", "page 7", "--mode", mode)["results"] == [] or mode == "hybrid"
    (hit,) = co.json("recall", "herons", "--mode", mode)["results"]
    assert (hit["content"], hit["cite"], hit["page"]) == ("Herons fish at dawn.", "article:short p. 7", 7)


def test_a_short_note_is_cited_by_its_ref(co: Co, vault: Path) -> None:
    co("learn", "We deploy on Fridays")
    write(vault, "deploy", "# Deploying\n\nOn Fridays\n", "topics")
    for mode in ("grep", "text"):
        hits = co.json("recall", "fridays", "--mode", mode)["results"]
        assert sorted(hit["cite"] for hit in hits) == ["1", "topic:deploy"]
        assert {hit["page"] for hit in hits} == {None}


def test_the_first_line_of_a_document_is_what_stands_below_the_mark(kb: KnowledgeBase, manual: Path) -> None:
    manual.write_text("<!-- page 1 -->\n\nHow to wash\n")
    assert kb.get("article:manual").summary == "How to wash"


def test_an_index_made_before_there_were_pages_learns_them_and_keeps_its_vectors(
    kb: KnowledgeBase, manual: Path, vault: Path
) -> None:
    path = vault / "knowledge.db"
    with gzip.open(Path(__file__).parent / "schemas" / "index-3.db.gz") as packed, open(path, "wb") as file:
        shutil.copyfileobj(packed, file)
    with closing(apsw.Connection(str(path))) as old:  # its terms are those of today; where they are not, it is made anew
        old.execute("UPDATE meta SET value = ? WHERE key = 'analysis'", (analysis.VERSION,))
        vectors = set(old.execute("SELECT vector FROM vectors"))
    write(vault, "plain", "Herons fish at dawn.\n")
    found = kb.recall("quokka", mode="text")
    assert (found.degraded, found.hits[0].cite) == ((), "article:manual#cleaning p. 12")
    with closing(apsw.Connection(str(path))) as now:
        kept = set(now.execute("SELECT vector FROM vectors"))
    assert kept <= vectors
    assert len(kept) >= 1, "what is cut as before needs no new vector"


@pytest.mark.parametrize("mode", ["grep", "text", "hybrid"])
def test_of_small_sections_that_go_together_the_one_with_the_words_is_cited(mode: str, co: Co, vault: Path) -> None:
    sections = {"Kiwis": "No tails.", "Emus": "They run. They do not fly.", "Rheas": "They run, too."}
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items())
    write(vault, "birds", f"# Birds\n\n{body}\n\n## Others\n\n{FILLING * 3}")
    for query, anchor in (
        ("tails", "kiwis"),
        ("emus", "emus"),
        ("flying fly", "emus"),
        ("run", "birds"),
        ("birds", "birds"),
    ):
        (hit,) = co.json("recall", query, "--mode", mode)["results"]
        assert hit["cite"] == f"article:birds#{anchor}", query
        assert hit["heading"] == "Birds"


def test_a_document_that_was_taken_in_is_cited_by_its_pages(co: Co, project: Path) -> None:
    pages = ["Never open the lid.", "The filter is cleaned.\nEvery fortnight.", "", "The quokka valve is closed."]
    (project / "handbook.pdf").write_bytes(pdf(pages))
    assert co("article", "add", "handbook.pdf") == 0, co.err
    for query, page in (("lid", 1), ("fortnight", 2), ("quokka", 4)):
        (hit,) = co.json("recall", query, "--mode", "text")["results"]
        assert (hit["cite"], hit["page"]) == (f"article:handbook p. {page}", page)
        assert query in co.json("show", hit["cite"])["text"].lower()


# --------------------------------------------------------------------------------------------------------------- parts


@pytest.mark.parametrize(
    ("text", "citation"),
    [
        ("article:rfc-9110#routing", Citation("article:rfc-9110", "routing")),
        ("article:manual p. 12", Citation("article:manual", "", 12)),
        ("article:manual, p. 12", Citation("article:manual", "", 12)),
        ("article:manual page 12", Citation("article:manual", "", 12)),
        ("article:manual#a-b p. 3", Citation("article:manual", "a-b", 3)),
        ("g:topic:c#usage", Citation("g:topic:c", "usage")),
        ("12 p.3", Citation("12", "", 3)),
        ("#12", None),
        ("topic:deploy", None),
        ("12", None),
        ("", None),
        ("topic:map", None),
        ("topic:help 12", None),
    ],
)
def test_what_a_citation_says(text: str, citation: Citation | None) -> None:
    assert parse_citation(text) == citation


@pytest.mark.parametrize(
    ("citation", "first", "last"),
    [
        ("article:manual#cleaning", "## Cleaning", "quokka valve"),
        ("article:manual#Cleaning", "## Cleaning", "quokka valve"),
        ("article:manual p. 2", "Gloves are needed", "filter"),
        ("article:manual#cleaning p. 2", "## Cleaning", "filter"),
        ("article:manual#safety-1", "## Safety\n\nOnce more", "gloves"),
        ("article:manual#the-manual", "# The Manual", "Once more"),
        ("p:article:manual p. 12", "The quokka", "Once more"),
    ],
)
def test_show_prints_just_the_part_that_is_meant(citation: str, first: str, last: str, co: Co, manual: Path) -> None:
    assert co("show", citation) == 0
    assert co.out.startswith(first)
    assert last in co.out
    assert "<!-- page" not in co.out
    assert len(co.out) < len(MANUAL)


@pytest.mark.parametrize(
    ("citation", "message", "hint"),
    [
        ("article:manual#nowhere", "no heading #nowhere", "#safety, #cleaning, #safety-1"),
        ("article:manual p. 3", "no page 3", "pages 1 to 12"),
        ("article:manual#safety-1 p. 2", "nothing on page 2 of #safety-1", "pages 1 to 12"),
        ("article:other#x", "no note article:other", "co recall"),
        ("topic:plain#x", "no heading #x", "It has no headings"),
        ("topic:plain p. 1", "no pages", "co show topic:plain"),
    ],
)
def test_a_part_that_is_not_there_is_not_found_and_what_there_is_is_said(
    citation: str, message: str, hint: str, co: Co, vault: Path, manual: Path
) -> None:
    write(vault, "plain", "Just text\n", "topics")
    assert co("show", citation) == 3
    assert message in co.err
    assert hint in co.err


def test_a_note_whose_name_looks_like_a_citation_is_found_by_its_name(co: Co, vault: Path) -> None:
    write(vault, "c#", "See sharp\n", "topics")
    write(vault, "letter p. 3", "Dear all\n", "topics")
    assert co("show", "topic:c#") == 0
    assert co("show", "topic:letter p. 3") == 0
    assert "Dear all" in co.out


# --------------------------------------------------------------------------------------------------------------- agents


def test_agents_get_the_passage_of_an_article_with_its_citation(kb: KnowledgeBase, manual: Path) -> None:
    kb.write_topic("laundry", "The quokka is washed on Mondays. " + FILLING)
    found = knowledge_search(kb, "quokka", Caller("mcp"))
    entries = {entry["ref"]: entry for entry in found["results"]}  # type: ignore[attr-defined]
    assert entries["article:manual"]["cite"] == "article:manual#cleaning p. 12"
    assert entries["article:manual"]["page"] == 12
    assert "fortnight" not in entries["article:manual"]["content"]
    assert entries["topic:laundry"]["cite"] == "topic:laundry"
    assert entries["topic:laundry"]["content"].endswith("woods.")
    assert "[article:manual#cleaning p. 12]" in str(found["display"])


def test_a_citation_that_an_agent_searches_for_brings_that_part(kb: KnowledgeBase, manual: Path) -> None:
    (entry,) = knowledge_search(kb, "article:manual p. 2", Caller("mcp"))["results"]  # type: ignore[misc, attr-defined]
    assert entry["content"].startswith("Gloves are needed")
    with pytest.raises(NotFound):
        kb.part("article:manual#none")


def test_a_part_of_a_private_article_goes_to_nobody_who_may_hand_it_on(kb: KnowledgeBase, vault: Path) -> None:
    write(vault, "merger", MANUAL, header="private: true\n")
    assert knowledge_search(kb, "article:merger p. 2", Caller("mcp"))["results"] == []
    assert knowledge_search(kb, "article:merger p. 2", Caller("chat", private=True))["count"] == 1


def test_a_client_can_read_a_part_of_a_note_as_a_resource(kb: KnowledgeBase, manual: Path) -> None:
    async def use(client: Client) -> None:
        (content,) = (await client.read_resource("co://note/article:manual%23cleaning")).contents
        assert content.text.startswith("## Cleaning")  # type: ignore[union-attr]
        found = await client.call_tool("knowledge_search", {"query": "quokka"})
        assert "[article:manual#cleaning p. 12]" in said(found)

    talk(use)


def test_what_a_chat_offers_is_cited(kb: KnowledgeBase, manual: Path) -> None:
    from co_cli.agent.offering import offer

    choose(kb, mode="text")
    block, hits = offer(kb, "quokka valve", 2000, private=False)
    assert "[article:manual#cleaning p. 12] The quokka valve is closed by hand." in block
    assert hits[0].page == 12
