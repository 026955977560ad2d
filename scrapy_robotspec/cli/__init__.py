"""The command line ``robotspec``; ``app.main`` runs it."""
