/** Help of `rmm audit verify`. */
export const examples = `Examples:
  rmm audit verify
  rmm audit verify --org contoso-dental --json
  rmm audit verify --all
  rmm audit verify --anchor-file anchors-copy.ndjson --public-key anchor.pub --require-anchor
  rmm audit verify --bundle contoso-dental.ndjson --public-key anchor.pub --require-anchor=any
  rmm audit verify contoso-dental.ndjson.gz --trust anchors.pub
  aws s3 cp --recursive s3://evidence/audit-anchors a
  cat a/*/*/*.json > anchors.ndjson
  rmm audit verify --since-anchor anchors.ndjson --trust anchors.pub
  rmm audit prove ENTRY-ID --json > entry.proof; rmm audit verify --proof entry.proof --trust anchors.pub
`;

export const meaning = `
Exit 0: whole. 11: broken; the verdict names each position. 12: not provable,
though nothing contradicts: the beginning is gone and no signed prune record
says why, a signature is of an unknown key, the bundle is cut off before its
last line (one that lacks other lines was changed: 11), or
--require-anchor finds entries at the end that no anchor covers. 9: with --all,
some chains could not be verified.
Anchors are taken hourly, and by a verification through the server that passes:
what is newer is covered by none yet.
--require-anchor=any is content with an anchor anywhere before the head.
A server that was taken over can lie about its own chain. Anchors and the public
key that you got another way, --anchor-file and --public-key, are what it cannot
lie about.
The server allows 30 verifications of a chain an hour, and 2,000 of all
together. --all begins with the chains that this installation verified least
recently; where the limit ends it, the next run goes on with the rest, and
--wait waits.

Permission: audit:read
Credential: a signed-in user; none with --bundle and --proof
Audit:      audit_logs.verify
`;
