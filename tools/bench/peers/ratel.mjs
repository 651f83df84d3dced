// Starts ratel's gateway on standard input and output, with the servers of the file that is its argument. ratel
// publishes the gateway as a library, and this is the program that its README describes.
import { readFile } from "node:fs/promises";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { buildGatewayFromConfig, createMcpServer, parseConfig } from "@ratel-ai/mcp-server";

const config = parseConfig(JSON.parse(await readFile(process.argv[2], "utf8")));
const gateway = await buildGatewayFromConfig(config);
const server = await createMcpServer(gateway.catalog, {
  name: "ratel",
  version: "0.1.5",
  transport: new StdioServerTransport(),
  upstreamServers: gateway.upstreamServers,
});
process.stdin.on("end", async () => {
  await server.close();
  await gateway.close();
});
