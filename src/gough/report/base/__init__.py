"""Parts of all reports: pages, figures, output folders, tables on a terminal."""
