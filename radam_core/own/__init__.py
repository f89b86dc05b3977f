"""Your own model: raced (`racing`), swept over warmups (`warmup_map`), or watched in its own loop (`watching`)."""
