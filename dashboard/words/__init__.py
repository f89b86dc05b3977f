"""What the pages say: sentences, formulas, tables, code to take along, questions and answers."""
