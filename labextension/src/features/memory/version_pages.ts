/** Reads the versions of a memory file page by page: what was listed stays listed when it is read again. */
import type { SocketClient } from '../../protocol/socket_client';
import type { MemoryVersionInfo, MemoryVersions } from '../../protocol/wire';

type Client = Pick<SocketClient, 'request'>;
type File = { path: string; agentId: string | null };

const PAGE = 200;
/** The most that one request returns. */
const MOST = 1000;

/** The newest ones, down to the oldest known. */
export async function readAgain(
  client: Client,
  { path, agentId }: File,
  known: readonly MemoryVersionInfo[]
): Promise<MemoryVersions> {
  const oldest = known[known.length - 1]?.version;
  const limit = Math.min(Math.ceil((known.length || 1) / PAGE) * PAGE, MOST);
  const versions: MemoryVersionInfo[] = [];
  let page: MemoryVersions;
  let before: number | undefined;
  do {
    page = await client.request('memory.versions', { path, agentId, limit, before });
    versions.push(...page.versions);
    before = versions[versions.length - 1]?.version;
  } while (page.versions.length === limit && oldest !== undefined && before > oldest);
  const listed = versions.filter(({ version }) => version >= (oldest ?? 0));
  return { versions: listed, total: page.total };
}

/** Those before the known ones. */
export async function readOlder(
  client: Client,
  { path, agentId }: File,
  known: readonly MemoryVersionInfo[]
): Promise<MemoryVersions> {
  const before = known[known.length - 1]?.version;
  const { versions, total } = await client.request('memory.versions', { path, agentId, limit: PAGE, before });
  const all = [...known, ...versions];
  // Versions thinned out meanwhile don't count as older ones that could be shown.
  return { versions: all, total: versions.length > 0 ? total : all.length };
}

/** Includes the compared version, which may have been thinned out meanwhile. */
export function withCompared(
  { versions, total }: MemoryVersions,
  compared: MemoryVersionInfo | undefined
): MemoryVersions {
  if (!compared || versions.some(({ version }) => version === compared.version)) {
    return { versions, total };
  }
  const all = [...versions, { ...compared, current: false }];
  return { versions: all.sort((left, right) => right.version - left.version), total: total + 1 };
}
