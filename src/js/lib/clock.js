// The local time of the host, as Python's `datetime.now()` shows it: `2026-01-02T03:04:05.678`.

export const localTime = (date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);

export const now = () => localTime(new Date());
