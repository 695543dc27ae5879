import {
  type ColumnDefinitionNode,
  DataTypeNode,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformResultArgs,
  type PluginTransformQueryArgs,
  type QueryId,
  type QueryResult,
  RawNode,
  type RootOperationNode,
  type UnknownRow,
} from 'kysely';

class ColumnTransformer extends OperationNodeTransformer {
  protected override transformColumnDefinition(
    node: ColumnDefinitionNode,
    queryId?: QueryId,
  ): ColumnDefinitionNode {
    const column = super.transformColumnDefinition(node, queryId);
    const { dataType } = column;
    if (!DataTypeNode.is(dataType) || dataType.dataType !== 'text') return column;
    return { ...column, dataType: RawNode.createWithSql('text collate "C"') };
  }
}

/** Columns of text that PostgreSQL sorts by code point, as SQLite does: its own order follows a language. */
export class BinaryOrder implements KyselyPlugin {
  readonly #transformer = new ColumnTransformer();

  transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
    return this.#transformer.transformNode(node, queryId);
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return result;
  }
}
