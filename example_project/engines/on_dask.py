"""Verdicts on a Dask cluster: ``python on_dask.py files.parquet verdicts.parquet [SCHEDULER]``.

Without the address of a scheduler a cluster of processes is started on this machine.
"""

import logging
import sys
from functools import partial

import pyarrow.parquet as pq
from distributed import Client

from scrapy_robotspec import bulk

ask = partial(
    bulk.verdicts,
    tokens=["GPTBot", "CCBot", "Googlebot"],
    paths=["/news/"],
    report=logging.getLogger(__name__).warning,  # a row that cannot be read ends no job
)


def main(source: str, target: str, address: str | None = None) -> None:
    cluster = {"address": address} if address else {"n_workers": 2, "threads_per_worker": 1}
    with Client(**cluster) as client, pq.ParquetWriter(target, bulk.SCHEMA) as out:
        batches = pq.ParquetFile(source).iter_batches(1000)
        for future in client.map(ask, list(batches), pure=False):
            out.write_batch(future.result())


if __name__ == "__main__":
    main(*sys.argv[1:])
