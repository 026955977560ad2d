// Follows the links of the first page with simplecrawler.
import { createRequire } from "node:module";

const Crawler = createRequire(import.meta.url)("simplecrawler");

const crawler = new Crawler(process.argv[2]);
crawler.interval = 10;
crawler.start();
