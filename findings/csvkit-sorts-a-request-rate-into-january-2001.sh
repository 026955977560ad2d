#!/usr/bin/env bash
# csvsort writes the request rate 1/10 of a robots.txt as 2001-01-10, the delay 1,5 as 15, and the preference y as True.
#
# Version: csvkit 2.2.0 with agate 1.14.2 (PyPI), csvsort by a column of names.
# Source: its documentation: csvsort sorts CSV files, and is like the Unix command sort, for tabular data; types are
# inferred unless -I is given.
# Expected: the rows come in another order, and the other cells stay as they are.
# Behaviour: cells are written anew from the types inferred: a pair of numbers is a month and a day, in a year that
# nobody named, and a comma separates thousands. It depends on all cells of the column: beside 1/60, 1/10 remains.
# What follows: "one page in ten seconds" is a date, a delay of a second and a half is a quarter of a minute, and
# True is no value of Content-Usage. Nothing in the result tells a table of dates from one of rates.
# Output:
#   site,request_rate | b,1/5 | a,1/10 -> site,request_rate | a,2001-01-10 | b,2001-01-05
#   site,request_rate | b,1/60 | a,1/10 -> site,request_rate | a,1/10 | b,1/60
#   site,crawl_delay | b,10 | a,"1,5" -> site,crawl_delay | a,15 | b,10
#   site,train-ai | b,n | a,y -> site,train-ai | a,True | b,False
#   site,train-ai | b,n | a,y, with -I -> site,train-ai | a,y | b,n
source "$(dirname "$0")/common.sh"

pypi csvkit==2.2.0 agate==1.14.2
cd "$work"
show() {
    printf '%b' "$1" >table.csv
    local before after
    before=$(paste -sd'|' table.csv) after=$(csvsort -c site ${2-} table.csv | paste -sd'|')
    echo "${before//|/ | }${2:+, with $2} -> ${after//|/ | }"
}
{
    show 'site,request_rate\nb,1/5\na,1/10\n'
    show 'site,request_rate\nb,1/60\na,1/10\n'
    show 'site,crawl_delay\nb,10\na,"1,5"\n'
    show 'site,train-ai\nb,n\na,y\n'
    show 'site,train-ai\nb,n\na,y\n' -I
} | confirm
