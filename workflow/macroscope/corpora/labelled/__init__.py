"""Source `labelled`: short texts whose sentiment, author or topic is known (pimentel2022 section 6.1 and App. C)."""
