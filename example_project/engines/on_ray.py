"""Verdicts with Ray Data: ``python on_ray.py files.parquet verdicts.parquet``."""

import logging
import sys
from functools import partial

import ray

from scrapy_robotspec import bulk

ask = partial(
    bulk.verdicts,
    tokens=["GPTBot", "CCBot", "Googlebot"],
    paths=["/news/"],
    report=logging.getLogger(__name__).warning,  # a row that cannot be read ends no job
)


def main(source: str, target: str) -> None:
    files = ray.data.read_parquet(source)
    files.map_batches(ask, batch_format="pyarrow", batch_size=1000).write_parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
