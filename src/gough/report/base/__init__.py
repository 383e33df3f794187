"""What all reports are made of: pages, figures, tables, and output folders."""
