"""The spiders, one feature each. Each file can be copied as it stands; only the URLs are ours."""
