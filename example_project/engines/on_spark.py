"""Verdicts on Spark: ``spark-submit on_spark.py files.parquet verdicts.parquet``."""

import logging
import sys
from functools import partial

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from scrapy_robotspec import bulk

ask = partial(
    bulk.verdicts,
    tokens=["GPTBot", "CCBot", "Googlebot"],
    paths=["/news/"],
    report=logging.getLogger(__name__).warning,  # a row that cannot be read ends no job
)


def answers(batches):
    for batch in batches:  # a Table, because its verdicts may be more than one batch can hold
        yield from ask(pa.Table.from_batches([batch])).to_batches()


def main(source: str, target: str) -> None:
    spark = SparkSession.builder.getOrCreate()
    files = spark.read.parquet(source)
    found = files.mapInArrow(answers, from_arrow_schema(bulk.SCHEMA))
    found.write.parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
