/** The fields of a view that a report reads; empty if absent or of another type. */
export type ViewLine = ReturnType<typeof viewLineOf>;

/** Reads a view's line; `undefined` if it is not a JSON object with `ts`, `p` and `url`. */
export function parseViewLine(line: string): ViewLine | undefined {
  try {
    const view = JSON.parse(line) as Record<string, unknown>;
    const isView = [view['ts'], view['p'], view['url']].every((one) => typeof one === 'string');
    return isView ? viewLineOf(view) : undefined;
  } catch {
    return undefined; // not JSON, or null
  }
}

function viewLineOf({ ts, p, url, pn, ubl, ref, orgreferer, content }: Record<string, unknown>) {
  const { templateId } = (content ?? {}) as { templateId?: unknown };
  return {
    ts: textOf(ts),
    p: textOf(p),
    url: textOf(url),
    pn: textOf(pn),
    ubl: textOf(ubl),
    ref: textOf(ref),
    orgreferer: textOf(orgreferer),
    templateId: textOf(templateId),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
