// An API server with fixed objects and with the permissions of each user, for `dayshift dashboard` and `dayshift run`.
import { createServer } from "node:http";

const KINDS = {
  deployments: ["apps/v1", "Deployment"], statefulsets: ["apps/v1", "StatefulSet"], cronjobs: ["batch/v1", "CronJob"],
  namespaces: ["v1", "Namespace"], events: ["v1", "Event"],
};

/** Serves `objects`, lists of objects by resource, except the resources in `objects.forbidden`. `may(user, attributes)` decides access reviews; the user of a request
 * without impersonation is undefined. `control(object)` is called after each patch, as a controller. Returns the server, its kubeconfig, and a function that sends a
 * changed object to the watches. */
export async function serveApi(objects, may, control = () => {}) {
  const watches = [];
  let version = 1;
  const send = (resource, object) => {
    const [apiVersion, kind] = KINDS[resource];
    object.metadata.resourceVersion = String(++version);
    for (const watch of watches.filter((it) => it.resource === resource && it.has(object))) {
      watch.response.write(`${JSON.stringify({ type: "MODIFIED", object: { apiVersion, kind, ...object } })}\n`);
    }
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://api"), query = url.searchParams;
    const path = url.pathname.split("/").filter(Boolean);
    const rest = path.slice(path[0] === "api" ? 2 : 3);
    const [namespace, resource, name] = rest[0] === "namespaces" && rest.length > 2 ? rest.slice(1) : ["", ...rest];
    const answer = (code, body) => response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.method === "POST") {
      let body = "";
      for await (const part of request) body += part;
      const sent = JSON.parse(body);
      const allowed = may(request.headers["impersonate-user"], sent.spec?.resourceAttributes ?? {});
      return answer(201, { metadata: {}, ...sent, status: { allowed } });
    }
    if (request.method === "PATCH") {
      let body = "";
      for await (const part of request) body += part;
      const object = objects[resource].find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
      for (const operation of JSON.parse(body)) patch(object, operation);
      if (query.has("dryRun")) throw new Error("dry runs are not served");
      answer(200, { apiVersion: KINDS[resource][0], kind: KINDS[resource][1], ...object });
      control(object);
      return send(resource, object);
    }
    if (request.method !== "GET" || !KINDS[resource]) {
      return answer(404, { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", message: "not served", code: 404 });
    }
    if (objects.forbidden?.includes(resource)) {
      return answer(403, { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", message: `${resource} is forbidden`, code: 403 });
    }
    const [apiVersion, kind] = KINDS[resource];
    const fields = (query.get("fieldSelector") ?? "").split(",").filter(Boolean).map((pair) => pair.split("="));
    const has = (object) => fields.every(([field, value]) => field.split(".").reduce((it, key) => it?.[key], object) === value);
    const isAsked = (object) =>
      (!namespace || object.metadata.namespace === namespace) && (!name || object.metadata.name === name) && has(object);
    const found = (objects[resource] ?? []).map((object) => ({ apiVersion, kind, ...object })).filter(isAsked);
    if (query.get("watch") === "true") {
      response.writeHead(200, { "content-type": "application/json" });
      const end = { apiVersion, kind, metadata: { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } } };
      const listed = [...found.map((object) => ({ type: "ADDED", object })), { type: "BOOKMARK", object: end }];
      const isListed = query.get("sendInitialEvents") === "true";
      watches.push({ resource, response, has: isAsked });
      return response.write(isListed ? listed.map((event) => `${JSON.stringify(event)}\n`).join("") : "");
    }
    if (name) return found[0] ? answer(200, found[0]) : answer(404, { kind: "Status", status: "Failure", code: 404 });
    return answer(200, { apiVersion, kind: `${kind}List`, metadata: { resourceVersion: "1" }, items: found });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const config = {
    apiVersion: "v1", kind: "Config", "current-context": "production", users: [{ name: "me", user: {} }],
    contexts: [{ name: "production", context: { cluster: "production", user: "me" } }],
    clusters: [{ name: "production", cluster: { server: `http://127.0.0.1:${server.address().port}` } }],
  };
  return [server, JSON.stringify(config), send];
}

/** Applies one operation of a JSON Patch. Tests are not checked. */
function patch(object, { op, path, value }) {
  const keys = path.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = keys.pop();
  const parent = keys.reduce((it, key) => it?.[key], object);
  if (op === "add" || op === "replace") parent[last] = value;
  if (op === "remove") delete parent[last];
}

/** A Deployment with these annotations and state labels of dayshift, all of whose replicas are ready. */
export function deployment(namespace, name, replicas, annotations, labels = {}) {
  const named = (texts) => Object.fromEntries(Object.entries(texts).map(([key, text]) => [`dayshift/${key}`, text]));
  const containers = [{ name: "main", image: "main", resources: { requests: { cpu: "500m", memory: "1Gi" } } }];
  return {
    metadata: { namespace, name, uid: `${namespace}-${name}`, resourceVersion: "1", generation: 1, annotations: named(annotations),
      labels: named(labels), creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: { metadata: { labels: { app: name } }, spec: { containers } } },
    status: { observedGeneration: 1, readyReplicas: replicas },
  };
}
