// Follows the links of the first page with supercrawler.
import { createRequire } from "node:module";

const supercrawler = createRequire(import.meta.url)("supercrawler");

const crawler = new supercrawler.Crawler({ interval: 10, concurrentRequestsLimit: 1 });
crawler.addHandler("text/html", supercrawler.handlers.htmlLinkParser({ hostnames: ["127.0.0.1"] }));
crawler.on("urllistcomplete", () => process.exit());
await crawler.getUrlList().insertIfNotExists(new supercrawler.Url(process.argv[2]));
crawler.start();
