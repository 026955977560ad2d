// Follows the links of the first page with Crawlee for JavaScript.
import { createRequire } from "node:module";

const { CheerioCrawler } = createRequire(import.meta.url)("crawlee");

const crawler = new CheerioCrawler({
  respectRobotsTxtFile: true,
  maxRequestRetries: 0,
  requestHandler: ({ enqueueLinks }) => enqueueLinks(),
});
await crawler.run([process.argv[2]]);
