import ParleySQLite

extension Check {
  static let fileUse = Check(
    "file use", "how many bytes the files of each have, and those of all, is what the files' rows say"
  ) { examination in
    examination.count(try examination.number("select count(*) from file_use"), "sums")
    try examination.expectNone(
      """
      select coalesce(u.owner_id, s.owner_id), coalesce(u.bytes, 0), coalesce(s.bytes, 0)
      from (
        select owner_id, sum(size + coalesce(preview_size, 0)) as bytes
        from file
        group by owner_id
        union all
        select 0, coalesce(sum(size + coalesce(preview_size, 0)), 0)
        from file
      ) s
      full join file_use u on u.owner_id = s.owner_id
      where coalesce(u.bytes, 0) <> coalesce(s.bytes, 0)
      """
    ) { row in
      "the files of \(try row.int(0)) have \(try row.int(2)) bytes, and the sum that is kept says \(try row.int(1))"
    }
  }
}
