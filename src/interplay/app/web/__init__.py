"""The page: upload, choose, watch, explore."""
