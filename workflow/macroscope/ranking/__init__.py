"""Rankings of systems by the monotony of their texts, without a judge."""
